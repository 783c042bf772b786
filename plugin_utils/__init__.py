"""Thread-safe lazy singletons for plugins."""
