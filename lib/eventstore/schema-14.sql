alter table published
  -- Which event is at stream_sequence: its subject, with the generation and the sequence that it was noted for. A replica
  -- of the former release moves the sequence alone. What is noted for another one says nothing.
  add stream_mark jsonb;
