"""What is claimed on paper, from which facts, and how a stranger checks it."""
