/** The grants for which a machine can get an access token, and those for which an application can. */
export const grantTypes = {
  clientCredentials: 'client_credentials',
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  authorizationCode: 'authorization_code',
  refreshToken: 'refresh_token',
}
