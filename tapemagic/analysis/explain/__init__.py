"""Why a gradient is None or incomplete, and the chain rule written out."""
