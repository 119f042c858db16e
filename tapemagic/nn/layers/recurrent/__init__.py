"""Recurrent layers: SimpleRNN, GRU and LSTM."""
