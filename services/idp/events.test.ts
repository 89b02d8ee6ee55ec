import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { IdpEvent } from './vocabulary.ts'

const settings = { name: 'ACME', stylingType: 1 as const, autoRegister: true }

const idp: Payloads<IdpEvent> = {
  'oidc.added': { ...settings, oidc: { clientId: 'c', issuer: 'https://i.example.com', scopes: ['openid'] } },
  changed: settings,
}

testPayloads('idp', { idp })
