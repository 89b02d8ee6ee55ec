import type { JsonObject } from '@bufbuild/protobuf'
import { account, code, consent, invited, withForm } from './parts.ts'

const long = 'W'.repeat(200)
export const longNames: Record<string, JsonObject> = {
  'long names, sign in': {
    ...withForm,
    destination: { applicationName: long, host: long },
    signIn: { loginName: long },
  },
  'long names, register': { ...withForm, registration: { email: long, givenName: long, familyName: long } },
  'long names, code': { ...withForm, registrationCode: { email: long, passwordMin: 8, passwordMax: 200 } },
  'long names, invitation': {
    ...withForm,
    invitation: { ...invited, email: long, inviter: long, message: long, applicationName: long },
  },
  'long names, code by mail': code({ loginName: long, email: long, isSent: true }),
  'long names, no access': {
    ...withForm,
    destination: { applicationName: long, host: long },
    noAccess: { accounts: [{ sessionId: 's', displayName: long, loginName: long }] },
  },
  'long names, accounts': {
    ...withForm,
    accounts: { accounts: [{ sessionId: 's', displayName: long, loginName: long }] },
  },
  'long names, sign out': {
    ...withForm,
    signOut: { accounts: [{ sessionId: 's', displayName: long, loginName: long }], offersAll: true },
  },
  'long names, account': {
    account: {
      account: { sessionId: 's', displayName: long, loginName: long },
      email: long,
      profile: { givenName: long, familyName: long, displayName: long, language: 'de', userName: long },
    },
  },
  'long names, apps': {
    account: {
      section: 'apps',
      account: { sessionId: 's', displayName: long, loginName: long },
      email: long,
      consents: { consents: [{ ...consent, applicationName: long, scopes: [long] }], total: 1 },
    },
  },
  'long names, consent': {
    ...withForm,
    consent: { account: { ...account, displayName: long }, scopes: [long], clickOnly: false },
  },
  'long names, unknown address': {
    notice: {
      reason: 'NOTICE_REASON_REDIRECT_URI_INVALID',
      clientId: long,
      redirectUri: `https://${long}${long}`,
      nearestRedirectUri: `https://${long}`,
    },
  },
  'long names, faulty request': {
    destination: { applicationName: long, host: long },
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      location: 'https://time.acme.example/',
      mistake: { parameter: 'scope', rule: 'PARAMETER_RULE_SCOPE_ROSTER', values: [long] },
    },
  },
  'long names, providers': {
    ...withForm,
    signIn: { withoutPassword: true, providers: [{ idpId: 'i1', name: long }], linksProvider: long },
  },
  'long names, complete the account': {
    ...withForm,
    providerRegistration: { provider: long, userName: long, email: long },
  },
  'long names, connect a provider': {
    ...withForm,
    providerLink: { loginName: long, provider: long, userName: long, subject: long, email: long },
  },
  'long names, a provider was tried': {
    providerTrial: {
      provider: long,
      issuer: `https://${long}`,
      subject: long,
      claims: long,
      words: [{ part: 'email', claim: long, value: long }],
      secondFactors: [long],
      rows: [{ claim: long, value: long, projectId: long, roleKeys: [long] }],
    },
  },
  'long names, account providers': {
    account: {
      section: 'providers',
      account: { sessionId: 's', displayName: long, loginName: long },
      email: long,
      providers: [{ idpId: 'i1', name: long, userName: long }],
    },
  },
  'long names, one click': { ...withForm, consent: { account: { ...account, displayName: long }, clickOnly: true } },
}
