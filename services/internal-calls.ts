/**
 * The internal methods that each service calls, by the service that answers them. A client gets only these, nats.conf
 * lets only these pass, and deploy/nats/internal-calls.test.ts checks that each is really called.
 */
export const internalCalls = {
  gateway: {
    users: [
      'authenticate',
      'openConsoleSession',
      'getConsoleSession',
      'endConsoleSession',
      'findPageBrand',
      'getSigningKeys',
      'useProof',
    ],
    grants: ['listMemberships', 'lookupOrganization', 'recordRefusals'],
    notifier: ['takeProviderReport'],
  },
  users: {
    grants: [
      'listMemberships',
      'listProjectRoles',
      'lookupOrganization',
      'lookupApplication',
      'listInstanceOwners',
      'listOwnedOrganizations',
      'giveInvitedRoles',
      'setProviderRoles',
      'listEvents',
    ],
    idp: [
      'listEvents',
      'lookupProvider',
      'beginProviderSignIn',
      'finishProviderSignIn',
      'finishProviderTrial',
      'verifyProviderLogout',
      'endSessionAtProvider',
    ],
  },
  grants: {
    users: [
      'lookupUser',
      'lookupUsers',
      'traceUserState',
      'releaseInstanceOwners',
      'restoreInstanceOwners',
      'listEvents',
      'matchUsers',
      'listSecretUses',
      'searchArrivals',
      'getPersonTokenLifetime',
    ],
    idp: ['listEvents', 'lookupProvider'],
  },
  idp: {
    grants: ['listEvents', 'checkProviderRoles'],
  },
  notifier: {
    users: [
      'findLogo',
      'getEmailCode',
      'recordEmailCode',
      'listUnsentEmailCodes',
      'listSessionApplications',
      'signLogoutToken',
      'listEvents',
      'listCheckpoints',
    ],
    grants: ['listEvents', 'listCheckpoints'],
    idp: ['listEvents', 'listCheckpoints'],
  },
} as const
