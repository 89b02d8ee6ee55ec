-- What the operator's command may do: read what no caller's secret is in, decide about dead letters, and ask the outbox
-- to publish anew. The key of the messages stays the service's own. `roster_operator` stands for the role of this
-- service.
grant select on migrations, histories, events, aggregates, unique_keys, followers, parked_events, parked_for_followers
  to roster_operator;
grant select (only_row, transaction_id, position, stream_created, stream_sequence, stream_floor, published_at, generation, ahead)
  on published to roster_operator;
grant select on subject_keys to roster_operator;
-- 0.3 let it read and write more, and its command reads the phase.
revoke all on sealing from roster_operator;
grant select (phase, secret) on sealing to roster_operator;
grant update (stream_created, ahead) on published to roster_operator;
grant execute on function announce_truncation(text, text[]) to roster_operator;
grant update (retry), delete on parked_events to roster_operator;
grant update (next_try_at), delete on parked_for_followers to roster_operator;
grant select on audit_chain, audit_pages, audit_checkpoints to roster_operator;
grant select (kid, public_key, created_at) on audit_keys to roster_operator;
