-- The words of a provider that make its sign-in count as two factors: `amr:` or `acr:`, and a value.
alter table identity_providers add column second_factors text[] not null default '{}';
