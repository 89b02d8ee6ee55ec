import type { JsonObject } from '@bufbuild/protobuf'
import { account, brand, code, invited, withForm } from './parts.ts'

/** Pages of a request to sign in, and around it. */
export const requestScreens: Record<string, JsonObject> = {
  'sign in': { ...withForm, signIn: {} },
  'wrong password, with a brand': {
    ...withForm,
    brand,
    signIn: { loginName: 'ada', mayRegister: true, error: 'SIGN_IN_ERROR_CREDENTIALS_INVALID' },
  },
  'sign in again, throttled': {
    ...withForm,
    signIn: { loginName: 'ada', nameIsFixed: true, error: 'SIGN_IN_ERROR_THROTTLED', retryAfter: 40 },
  },
  'sign in or register': { ...withForm, signIn: { mayRegister: true, error: 'SIGN_IN_ERROR_ADDRESS_TAKEN' } },
  register: { ...withForm, registration: {} },
  'wrong address': {
    ...withForm,
    registration: { email: 'ada', givenName: 'Ada Lovelace', error: 'REGISTRATION_ERROR_EMAIL_INVALID' },
  },
  code: { ...withForm, registrationCode: { email: 'ada@acme.example', passwordMin: 8, passwordMax: 200 } },
  'short password': {
    ...withForm,
    registrationCode: {
      email: 'ada@acme.example',
      passwordMin: 8,
      passwordMax: 200,
      error: 'REGISTRATION_ERROR_PASSWORD_INVALID',
    },
  },
  'sign in, or recover': { ...withForm, signIn: { loginName: 'ada', recovers: true, mayRegister: true, keep: false } },
  recover: { ...withForm, recovery: { loginName: 'ada' } },
  'recover, known': { ...withForm, recovery: { loginName: 'ada', nameIsFixed: true } },
  'recover by code': { ...withForm, recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200 } },
  'recover by wrong code': {
    ...withForm,
    recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200, error: 'RECOVERY_ERROR_CODE_WRONG' },
  },
  'recover with a short password': {
    ...withForm,
    recoveryCode: { loginName: 'ada', passwordMin: 8, passwordMax: 200, error: 'RECOVERY_ERROR_PASSWORD_INVALID' },
  },
  'new password': { ...withForm, newPassword: { loginName: 'ada', passwordMin: 8, passwordMax: 200 } },
  'new password, the same': {
    ...withForm,
    newPassword: { loginName: 'ada', passwordMin: 8, passwordMax: 200, error: 'NEW_PASSWORD_ERROR_UNCHANGED' },
  },
  'link of an invitation': { invitationLink: { invitationId: 'i1' } },
  'link of an invitation, wrong code': { invitationLink: { invitationId: 'i1', problem: 'code' } },
  invitation: { ...withForm, invitation: invited },
  'invitation, short password': { ...withForm, invitation: { ...invited, error: 'INVITATION_ERROR_PASSWORD_INVALID' } },
  'invitation of a user without a password': {
    ...withForm,
    invitation: { ...invited, namesAreKnown: true, keep: false },
  },
  'invitation, known person': { ...withForm, invitation: { ...invited, account } },
  'invitation of another person': { ...withForm, signIn: { loginName: 'ada', error: 'SIGN_IN_ERROR_INVITED_PERSON' } },
  'invitation over': { notice: { reason: 'NOTICE_REASON_INVITATION_OVER' } },
  'invitation refused': { notice: { reason: 'NOTICE_REASON_INVITATION_REFUSED' } },
  'password set': { notice: { reason: 'NOTICE_REASON_PASSWORD_SET', applicationOrigin: 'https://time.acme.example' } },
  'common password': {
    ...withForm,
    registrationCode: {
      email: 'ada@acme.example',
      passwordMin: 8,
      passwordMax: 200,
      error: 'REGISTRATION_ERROR_PASSWORD_TOO_COMMON',
    },
  },
  'wrong password': { ...withForm, signIn: { loginName: 'ada', error: 'SIGN_IN_ERROR_CREDENTIALS_INVALID' } },
  'code by mail, not sent': code({}),
  'code by mail': code({ isSent: true }),
  'code by mail, wrong': code({ isSent: true, error: 'CODE_ERROR_WRONG' }),
  'code by mail, over': code({ isSent: true, error: 'CODE_ERROR_OVER' }),
  'code by mail, throttled': code({ isSent: true, error: 'CODE_ERROR_THROTTLED', retryAfter: 40 }),
  'code by mail, too many mails': code({ error: 'CODE_ERROR_MAILS_THROTTLED', retryAfter: 400 }),
  'code by mail, address not verified': code({ error: 'CODE_ERROR_NOT_VERIFIED' }),
  'code by mail, password by mail': code({ error: 'CODE_ERROR_PASSWORD_BY_MAIL' }),
  'no access': { ...withForm, noAccess: { accounts: [account, { ...account, loginName: 'ada' }] } },
  accounts: { ...withForm, accounts: { accounts: [account, { ...account, sessionId: 's2' }] } },
  consent: { ...withForm, consent: { account, scopes: ['openid', 'email', 'urn:x'], actsInRoster: true } },
  'first use': { ...withForm, consent: { account, scopes: [] } },
  'too many consents': { ...withForm, consent: { account, scopes: ['openid'], tooMany: true } },
  'one click': { ...withForm, consent: { account, clickOnly: true } },
  'sign out': {
    ...withForm,
    signOut: {
      accounts: [account],
      offersAll: true,
      uriUnregistered: true,
      mistake: { parameter: 'post_logout_redirect_uri', rule: 'PARAMETER_RULE_REGISTERED' },
      clientId: 'c'.repeat(200),
      redirectUri: `https://time.acme.example/${'long/'.repeat(90)}`,
    },
  },
  'signed out': { notice: { reason: 'NOTICE_REASON_SIGNED_OUT', location: 'https://time.acme.example/bye' } },
  notice: { notice: { reason: 'NOTICE_REASON_REQUEST_ANSWERED', applicationOrigin: 'https://time.acme.example' } },
}
