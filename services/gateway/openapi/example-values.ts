/** Values of fields by their JSON names, for examples: of one shop, its person Ada and its machine. */
export const exampleValues: Readonly<Record<string, unknown>> = {
  // Chosen ids, so that one example goes on with what another one made.
  userId: 'ada',
  projectId: 'shop',
  roleKey: 'reader',
  roleKeys: ['reader'],
  orgId: 'acme',
  grantedOrgId: 'acme',
  // Ids that Roster makes.
  ...Object.fromEntries(
    ['appId', 'applicationId', 'grantId', 'idpId', 'keyId', 'secretId', 'sessionId', 'tokenId', 'webhookId'].map(
      (name) => [name, '01a21238-e7b4-7378-bef2-b3d2c25d664a'],
    ),
  ),
  authRequestId: '01a21238-e7b4-7378-bef2-b3d2c25d664a',
  deliveryId: '01a21238-e7b4-7378-bef2-b3d2c25d664a',
  grantIds: ['01a21238-e7b4-7378-bef2-b3d2c25d664a'],
  clientId: 'shop-web',
  userName: 'ada',
  loginName: 'ada',
  password: 'correct horse battery staple',
  oldPassword: 'correct horse battery staple',
  newPassword: 'twelve quiet lighthouse keepers',
  verificationCode: 'ABC234',
  sessionToken: 'the token that CreateSession returned',
  token: 'the token to look at',
  name: 'Shop',
  displayName: 'Reader',
  key: 'reader',
  domain: 'acme.localhost',
  service: 'users',
  url: 'https://shop.example.com/hooks/roster',
  // Providers.
  clientSecret: 'the secret that the provider gave',
  issuer: 'https://login.example.com',
  authorizationEndpoint: 'https://login.example.com/authorize',
  tokenEndpoint: 'https://login.example.com/token',
  userEndpoint: 'https://login.example.com/userinfo',
  jwtEndpoint: 'https://login.example.com/jwt',
  keysEndpoint: 'https://login.example.com/keys',
  headerName: 'x-id-token',
  idAttribute: 'uid',
  metadataXml: 'PEVudGl0eURlc2NyaXB0b3IgLz4=',
  baseDn: 'dc=example,dc=com',
  bindDn: 'cn=roster,dc=example,dc=com',
  bindPassword: 'the password of that entry',
  userBase: 'ou=people,dc=example,dc=com',
  userObjectClasses: ['inetOrgPerson'],
  userFilters: ['uid'],
}

/** The value of a parameter in the path. What only machines have is asked of the machine. */
export function examplePathValue(operationId: string, name: string): unknown {
  const isMachine = /Machine|PersonalAccessToken|DPoP/.test(operationId)
  return name === 'userId' && isMachine ? 'deploy-robot' : exampleValues[name]
}
