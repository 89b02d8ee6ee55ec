import type { JsonObject } from '@bufbuild/protobuf'
import { consent, date, ofAccount, profile, times, withForm } from './parts.ts'

export const accountScreens: Record<string, JsonObject> = {
  account: ofAccount({ profile, emailVerified: true, outcome: 'saved' }),
  'account, not verified': ofAccount({ profile, outcome: 'code-wrong' }),
  'account, sign-in': ofAccount({ section: 'sign-in', outcome: 'password-set' }),
  'account, activity': ofAccount({
    section: 'activity',
    sessions: {
      sessions: [
        { id: 's1', isCurrent: true, ...times },
        { id: 's2', inBrowser: true, ...times },
        { id: 's3', creationDate: date, expirationDate: date },
      ],
      total: 12,
      nextCursor: 'c',
      goesOn: true,
      trustedBrowsers: [
        {
          trustId: 't1',
          sessionId: 's4',
          trustedDate: date,
          trustedUntil: date,
          lastSignIn: { client: { browser: 'Firefox', system: 'Windows', address: '2001:db8::' } },
        },
        { trustId: 't2', sessionId: 's5', trustedDate: date, trustedUntil: date },
      ],
    },
  }),
  'account, apps': ofAccount({
    section: 'apps',
    consents: { consents: [consent, { ...consent, applicationId: 'a2', applicationName: '' }], total: 2 },
  }),
  'account, data': ofAccount({ section: 'data' }),
  'account, email': ofAccount({ section: 'email', emailVerified: true, takeBackHours: 72, outcome: 'address-invalid' }),
  'account, password': ofAccount({
    section: 'password',
    passwordMin: 8,
    passwordMax: 200,
    outcome: 'password-common',
  }),
  'account, removal': ofAccount({ section: 'removal', forgetAfterDays: 30, outcome: 'last-owner' }),
  'take back': { takeBack: {} },
  'taken back': { notice: { reason: 'NOTICE_REASON_TAKEN_BACK' } },
  'taken back, by code': { notice: { reason: 'NOTICE_REASON_TAKEN_BACK_BY_CODE' } },
  'taken back, without a reset': { notice: { reason: 'NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET' } },
  'unknown application': { notice: { reason: 'NOTICE_REASON_CLIENT_UNKNOWN', clientId: 'ada' } },
  'unknown address': {
    notice: {
      reason: 'NOTICE_REASON_REDIRECT_URI_INVALID',
      clientId: 'ada',
      redirectUri: 'time.acme.example',
      nearestRedirectUri: 'https://time.acme.example/callback',
    },
  },
  'faulty request': {
    destination: withForm.destination,
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      location: 'https://time.acme.example/callback?error=invalid_request',
      mistake: { parameter: 'prompt', rule: 'PARAMETER_RULE_WORDS', values: ['none', 'login'] },
    },
  },
  'faulty request, to post': {
    destination: withForm.destination,
    notice: {
      reason: 'NOTICE_REASON_REQUEST_FAULTY',
      formPost: { action: 'https://time.acme.example/callback', parameters: { error: 'invalid_request' } },
      mistake: { parameter: '', rule: 'PARAMETER_RULE_ONCE' },
    },
  },
}
