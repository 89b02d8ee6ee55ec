/** What a machine can be given an access token for. */
export const grantTypes = {
  clientCredentials: 'client_credentials',
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
}
