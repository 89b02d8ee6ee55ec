/** The grants for which a machine can get an access token. */
export const grantTypes = {
  clientCredentials: 'client_credentials',
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
}
