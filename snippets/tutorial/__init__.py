"""The plugin that the tutorial builds."""
