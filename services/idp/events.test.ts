import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { OrganizationStatusEvent } from '../organization-status.ts'
import { organizationType } from './organizations.ts'
import { example } from './testing/example.ts'
import type { IdpEvent } from './vocabulary.ts'

const { settings, oidc, jwt, oauth, saml, ldap } = example

const idp: Payloads<IdpEvent> = {
  'oidc.added': { ...settings, oidc },
  'jwt.added': { ...settings, jwt },
  'oauth.added': { ...settings, oauth },
  'saml.added': { ...settings, saml },
  'ldap.added': { ...settings, ldap },
  changed: settings,
  'oidc.changed': { oidc, secretReplaced: true },
  'jwt.changed': { jwt },
  'oauth.changed': { oauth, secretReplaced: false },
  'saml.changed': { saml },
  'ldap.changed': { ldap, secretReplaced: true },
  deactivated: {},
  reactivated: {},
  removed: {},
}

const organization: Payloads<OrganizationStatusEvent> = { noted: { state: 'removed', sequence: 2 } }

testPayloads('idp', { idp, [organizationType]: organization })
