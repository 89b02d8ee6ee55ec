-- The browsers that a user signed in with: a sign-in in another one is told by mail. Neither has an address.
create table known_browsers (
  user_id text not null,
  browser_id text not null,
  used_at timestamptz not null,
  primary key (user_id, browser_id)
);
create index known_browsers_by_browser on known_browsers (browser_id);
create index known_browsers_by_use on known_browsers (used_at);
