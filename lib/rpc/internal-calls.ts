/**
 * Which service calls which internal methods of which other. `createClient` gives a service these and no more, nats.conf lets no
 * more through, and deploy/nats/internal-calls.test.ts holds that each is called.
 */
export const internalCalls = {
  gateway: {
    'roster.users.v1.InternalService': ['authenticate', 'getSigningKeys', 'useProof'],
    'roster.grants.v1.InternalService': ['listMemberships', 'lookupOrganization'],
  },
  users: {
    'roster.grants.v1.InternalService': [
      'listMemberships',
      'listProjectRoles',
      'lookupOrganization',
      'listInstanceOwners',
    ],
  },
  grants: {
    'roster.users.v1.InternalService': ['lookupUser'],
  },
  idp: {},
  notifier: {
    'roster.users.v1.InternalService': ['getEmailCode', 'recordEmailCode', 'listUnsentEmailCodes', 'listEvents'],
    'roster.grants.v1.InternalService': ['listEvents'],
    'roster.idp.v1.InternalService': ['listEvents'],
  },
} as const
