export const keyKinds = {
  /** Of all organizations. */
  primaryDomain: 'primary_domain',
  /** A verified domain. Of all organizations. */
  verifiedDomain: 'verified_domain',
  /** Scope: organization; key: user, or project and user. */
  member: 'member',
  /** Scope: project; key: the organization that it is granted to. */
  projectGrant: 'project_grant',
  /** Scope: organization. */
  userGrant: 'user_grant',
  /** Of all applications, removed ones too. */
  client: 'client',
}
