import type { JsonObject } from '@bufbuild/protobuf'
import { date, invited, ofAccount, withForm } from './parts.ts'

const acme = { idpId: 'i1', name: 'Acme' }
const google = { idpId: 'i2', name: 'Google', stylingType: 'STYLING_TYPE_GOOGLE' }

const names = (at: number) => ['شركة أكمي للشحن', '株式会社アクメ'][at] ?? `Partner ${at}`

/** Pages of identity providers. */
export const providerScreens: Record<string, JsonObject> = {
  'sign in, also by providers': {
    ...withForm,
    signIn: { recovers: true, mayRegister: true, keep: false, providers: [google, acme] },
  },
  'sign in, by a provider that does not answer': {
    ...withForm,
    signIn: { recovers: true, providers: [google, acme], error: 'SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE' },
  },
  'sign in, by twenty providers': {
    ...withForm,
    signIn: {
      recovers: true,
      providers: Array.from({ length: 20 }, (_, at) => ({ idpId: `p${at}`, name: names(at) })),
    },
  },
  'sign in, the name alone': {
    ...withForm,
    signIn: { asksNameAlone: true, recovers: true, mayRegister: true, keep: false, providers: [google] },
  },
  'sign in, by providers alone': {
    ...withForm,
    signIn: { withoutPassword: true, hidesPasswordReset: true, keep: false, providers: [google, acme] },
  },
  'sign in again, by a provider alone': {
    ...withForm,
    signIn: { loginName: 'ada', nameIsFixed: true, withoutPassword: true, hidesPasswordReset: true, providers: [acme] },
  },
  'sign in, by providers alone, cancelled there': {
    ...withForm,
    signIn: {
      withoutPassword: true,
      hidesPasswordReset: true,
      providers: [acme],
      error: 'SIGN_IN_ERROR_PROVIDER_DENIED',
    },
  },
  'sign in, provider unknown': {
    ...withForm,
    signIn: { providers: [acme], linksProvider: 'Acme', error: 'SIGN_IN_ERROR_PROVIDER_UNKNOWN' },
  },
  'complete the account': {
    ...withForm,
    providerRegistration: { provider: 'Acme', userName: 'ada@acme.example', email: 'ada@acme.example' },
  },
  'complete the account, wrong name': {
    ...withForm,
    providerRegistration: { provider: 'Acme', error: 'REGISTRATION_ERROR_GIVEN_NAME_INVALID' },
  },
  'connect a provider': {
    ...withForm,
    providerLink: {
      loginName: 'ada',
      provider: 'Acme',
      userName: 'ada@acme.example',
      subject: '248289761001',
      email: 'ada@acme.example',
    },
  },
  'connect a provider, refused': {
    ...withForm,
    providerLink: { loginName: 'ada', provider: 'Acme', subject: '248289761001', refusal: 'other' },
  },
  'sign in, provider unknown, by a link': {
    ...withForm,
    signIn: { providers: [acme], error: 'SIGN_IN_ERROR_PROVIDER_UNKNOWN' },
  },
  'a provider was tried': {
    providerTrial: {
      provider: 'Acme',
      issuer: 'https://login.acme.example',
      subject: 'ada|1',
      claims: '{\n  "sub": "ada|1",\n  "given_name": "Ada"\n}',
      words: [
        { part: 'givenName', claim: 'given_name', value: 'Ada' },
        { part: 'email', claim: 'email', value: '' },
      ],
      secondFactors: ['amr:mfa'],
      rows: [{ claim: 'groups', value: 'admins', projectId: 'p1', roleKeys: ['reader'] }],
    },
  },
  'a provider was tried, in vain': {
    providerTrial: { provider: 'Acme', problem: 'The provider refuses the code: invalid_client.' },
  },
  'invitation, by providers alone': {
    ...withForm,
    invitation: { ...invited, withoutPassword: true, providers: [google, acme], keep: false },
  },
  'invitation, by a provider that proved another person': {
    ...withForm,
    invitation: {
      ...invited,
      withoutPassword: true,
      providers: [acme],
      error: 'INVITATION_ERROR_PROVIDER_TAKEN',
    },
  },
  'invitation, cancelled at a provider': {
    ...withForm,
    invitation: {
      ...invited,
      namesAreKnown: true,
      withoutPassword: true,
      providers: [acme],
      providerError: 'SIGN_IN_ERROR_PROVIDER_DENIED',
    },
  },
  'invitation, proved by a provider': {
    ...withForm,
    invitation: { ...invited, withoutPassword: true, provedBy: 'Acme', provedAs: 'ada@there.example', keep: false },
  },
  'invitation with a role, where providers sign in': {
    ...withForm,
    invitation: { ...invited, providersOfOthers: ['Google', 'Acme'] },
  },
  'recover, where providers sign in': { ...withForm, recovery: { loginName: 'ada', providers: ['Google', 'Acme'] } },
  'recover by code, where providers sign in': {
    ...withForm,
    recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200, providers: ['Acme'] },
  },
  'account, providers': ofAccount({
    section: 'providers',
    outcome: 'provider-last',
    providers: [
      { idpId: 'i1', name: 'Acme', userName: 'ada@acme.example', creationDate: date },
      { idpId: 'i2', creationDate: date },
    ],
  }),
}
