-- W3C trace context of the span that made the event, where it was recorded: the work on the event goes on in its trace.
-- Null costs nothing.
alter table events add traceparent text;
