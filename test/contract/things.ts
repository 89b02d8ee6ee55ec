/** The one name of each thing's id, and what operations call the thing. docs/api.md lists them. */
export const things: Record<string, string> = {
  user_id: '(Human|Machine)?User',
  organization_id: 'Organization',
  project_id: 'Project',
  role_key: 'ProjectRole',
  project_grant_id: 'ProjectGrant|GrantedProject',
  user_grant_id: 'UserGrant',
  app_id: '(OIDC|API)?Application',
  idp_id: '(Organization)?((OIDC|OAuth|JWT|SAML|LDAP)?IDP|IdentityProvider)',
  invitation_id: 'Invitation',
  webhook_id: 'Webhook',
  delivery_id: 'Deliver(y|ie)',
  mail_id: 'Mail',
  session_id: '(My|User)?Session',
  token_id: 'PersonalAccessToken',
  key_id: '(Machine|Application)Key',
  secret_id: '(Machine|Client)Secret',
}
