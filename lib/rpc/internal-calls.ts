/**
 * The internal methods that each service calls, by the service that answers them. `createClient` gives a service only
 * these. nats.conf lets only these pass. deploy/nats/internal-calls.test.ts checks that each is really called.
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
