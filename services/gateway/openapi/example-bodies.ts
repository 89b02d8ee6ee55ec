/**
 * Whole bodies of common requests, by operation. Those that add something can be sent as they are, from the top of the
 * page to its end: a test does. The others have the values of fields.
 */
export const exampleBodies: Readonly<Record<string, object>> = {
  AddHumanUser: {
    userId: 'ada',
    userName: 'ada',
    profile: { firstName: 'Ada', lastName: 'Lovelace', displayName: 'Ada Lovelace', preferredLanguage: 'en' },
    email: { email: 'ada@example.com', isVerified: true },
    password: 'correct horse battery staple',
  },
  BulkAddUsers: {
    users: [
      {
        human: {
          userName: 'grace',
          profile: { firstName: 'Grace', lastName: 'Hopper' },
          email: { email: 'grace@example.com' },
        },
      },
      { machine: { userName: 'backup-robot', name: 'Backup robot' } },
    ],
  },
  SearchUsers: { queries: [{ emailQuery: { emailAddress: 'ada@example.com' } }], limit: 20 },
  UpdateUserName: { userName: 'ada.lovelace' },
  UpdateHumanProfile: { displayName: 'Ada Lovelace', preferredLanguage: 'en' },
  UpdateMachine: { description: 'Deploys the shop' },
  CreateSession: { loginName: 'ada', password: 'correct horse battery staple' },
  UpdateMyPassword: {
    currentPassword: 'correct horse battery staple',
    password: 'twelve quiet lighthouse keepers',
  },
  AddOrganization: { organizationId: 'acme', name: 'Acme' },
  UpdateOrganization: { name: 'Acme Inc.' },
  AddProject: { projectId: 'shop', name: 'Shop', projectRoleCheck: true },
  UpdateProject: { name: 'Shop', projectRoleCheck: false },
  AddProjectRole: { roleKey: 'reader', displayName: 'Reader' },
  BulkAddProjectRoles: {
    roles: [
      { key: 'editor', displayName: 'Editor' },
      { key: 'owner', displayName: 'Owner' },
    ],
  },
  UpdateProjectRole: { displayName: 'Reader of the shop' },
  AddProjectGrant: { grantedOrgId: 'acme', roleKeys: ['reader'] },
  UpdateProjectGrant: { roleKeys: ['reader'] },
  AddOIDCApplication: {
    clientId: 'shop-web',
    name: 'Shop',
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    redirectUris: ['http://localhost:3000/callback'],
    idTokenUserinfoAssertion: true,
    idTokenRoleAssertion: true,
    devMode: true,
  },
  AddAPIApplication: { clientId: 'shop-api', name: 'Shop API', authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' },
  UpdateOIDCConfig: {
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
    redirectUris: ['https://shop.example.com/callback'],
    postLogoutRedirectUris: ['https://shop.example.com/'],
    idTokenUserinfoAssertion: true,
    idTokenRoleAssertion: true,
  },
  AddUserGrant: { projectId: 'shop', roleKeys: ['reader'] },
  BulkAddUserGrants: { userGrants: [{ userId: 'deploy-robot', projectId: 'shop', roleKeys: ['reader'] }] },
  UpdateUserGrant: { roleKeys: ['reader'] },
  SearchUserGrants: { projectId: 'shop', limit: 20 },
  AddMachineUser: { userId: 'deploy-robot', userName: 'deploy-robot', name: 'Deployment robot' },
  AddPersonalAccessToken: { expirationDate: '2040-01-01T00:00:00Z' },
  AddMachineKey: { type: 'KEY_TYPE_JSON', algorithm: 'KEY_ALGORITHM_ES256' },
  SetDPoP: { required: true },
  PasswordReset: { sendLink: {} },
  UpdateApplication: { name: 'Shop' },
  UpdateAPIConfig: { authMethodType: 'API_AUTH_METHOD_TYPE_BASIC' },
  UpdateLoginPolicy: { settings: { allowUsernamePassword: true, forceMfa: false } },
  UpdateInstanceLoginPolicy: { settings: { allowUsernamePassword: true, forceMfa: false } },
  AddCustomLoginPolicy: {
    settings: { allowUsernamePassword: true, ignoreUnknownUsernames: true, forceMfa: true },
    secondFactors: ['SECOND_FACTOR_TYPE_OTP'],
  },
  UpdateCustomLoginPolicy: {
    settings: { allowUsernamePassword: true, ignoreUnknownUsernames: true, forceMfa: true },
  },
  UpdateInstanceCustomLoginPolicy: {
    settings: { allowUsernamePassword: true, ignoreUnknownUsernames: true, forceMfa: false },
  },
  ChangeLoginPolicyFactors: { change: { addSecondFactor: 'SECOND_FACTOR_TYPE_OTP_EMAIL' } },
  ChangeInstanceLoginPolicyFactors: { change: { addSecondFactor: 'SECOND_FACTOR_TYPE_OTP_EMAIL' } },
  SetLockoutPolicy: { maxPasswordAttempts: 10 },
  SetInstanceLockoutPolicy: { maxPasswordAttempts: 10 },
  ExplainPermission: { userId: 'ada', permission: 'user.read' },
  ExplainSignIn: { clientId: 'shop-web', scopes: ['openid', 'profile'] },
  SearchEvents: { filter: { aggregateTypes: ['user'] }, limit: 20 },
  SearchOrganizationEvents: { filter: { aggregateTypes: ['user'] }, limit: 20 },
  AddWebhook: { url: 'https://shop.example.com/hooks/roster', description: 'The shop, about its people' },
  UpdateWebhook: { url: 'https://shop.example.com/hooks/roster', description: 'The shop, about its people' },
  RotateWebhookSecret: { overlapSeconds: 3600 },
  ...ofProviders('UpdateIDP'),
  ...ofProviders('UpdateOrganizationIDP'),
  UpdateOrganizationIDP: { name: 'Example Inc.' },
  IssueToken: {
    grant_type: 'client_credentials',
    client_id: 'deploy-robot',
    client_secret: 'the secret of the machine',
  },
}

function ofProviders(update: string): Record<string, object> {
  return {
    [`${update}OIDCConfig`]: { clientSecret: 'the new secret that the provider gave' },
    [`${update}OAuthConfig`]: { clientSecret: 'the new secret that the provider gave' },
    [`${update}JWTConfig`]: { keysEndpoint: 'https://login.example.com/keys' },
    [`${update}SAMLConfig`]: { binding: 'SAML_BINDING_POST' },
    [`${update}LDAPConfig`]: { servers: ['ldaps://ldap.example.com'], bindPassword: 'the new password of that entry' },
  }
}
