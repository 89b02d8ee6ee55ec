-- When somebody signed out in the browser last: for some minutes, no request of it leads to an identity provider by itself.
alter table browsers add column signed_out_at timestamptz;
