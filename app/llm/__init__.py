"""Where summaries come from: each module is one `Summariser` the engine can be handed."""
