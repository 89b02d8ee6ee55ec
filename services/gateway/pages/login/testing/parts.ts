import type { JsonObject } from '@bufbuild/protobuf'

export const page1 = '/ui/login/r1'
export const withForm = {
  requestId: 'r1',
  formToken: 'token',
  destination: { applicationName: 'Acme Timesheets', host: 'time.acme.example' },
}
export const account = { sessionId: 's1', displayName: 'Ada Lovelace', loginName: 'ada@acme.example' }
export const evil = '"><img src=x onerror=alert(1)></title></style></p><script>alert(1)</script>\u202e'

export const date = '2026-11-26T15:54:00Z'
export const times = { creationDate: date, lastUseDate: date, expirationDate: date }
export const consent = {
  applicationId: 'a1',
  applicationName: 'Acme Timesheets',
  scopes: ['openid', 'email', 'urn:x'],
  givenDate: date,
}

export const brand = {
  lightTheme: { primaryColor: '#7a1fa2', onPrimaryColor: '#ffffff', backgroundColor: '#f6eefa' },
  darkTheme: { primaryColor: '#e1b3f5', onPrimaryColor: '#000000', backgroundColor: '#101418' },
  cornerRadius: 0,
}

export const code = (rest: JsonObject): JsonObject => ({
  ...withForm,
  code: { loginName: 'ada', email: 'a•••@a•••.example', ...rest },
})

export const profile = { givenName: 'Ada', familyName: 'Lovelace', displayName: 'Ada', language: 'de', userName: 'ada' }
export const ofAccount = (page: JsonObject): JsonObject => ({
  formToken: 'token',
  account: { account, userId: 'u1', email: 'ada@acme.example', ...page },
})
export const invited = {
  email: 'ada@acme.example',
  inviter: 'Grace Hopper',
  message: 'See you on Monday',
  applicationName: 'Acme Timesheets',
  passwordMin: 8,
  passwordMax: 200,
}
