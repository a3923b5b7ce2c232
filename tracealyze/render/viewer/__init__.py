"""What makes the page of a report interactive: its data, and the script that draws them."""
