"""What goes on while nobody asks: watching the data, and telling the open windows."""
