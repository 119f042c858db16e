"""Text, HTML, graph drawings and widgets made from what `tapemagic.analysis` found."""
