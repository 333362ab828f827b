"""Programs for whoever works on Omoide; nothing here is installed."""
