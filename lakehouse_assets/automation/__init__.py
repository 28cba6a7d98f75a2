"""What starts runs by itself: sensors and schedules, all off until someone turns them on."""
