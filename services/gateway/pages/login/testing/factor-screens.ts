import type { JsonObject } from '@bufbuild/protobuf'
import { code, withForm } from './parts.ts'

const app = (rest: JsonObject = {}): JsonObject => ({
  ...withForm,
  factorCode: { loginName: 'ada', way: 'FACTOR_WAY_TOTP', ...rest },
})
const recovery = (rest: JsonObject = {}): JsonObject => ({
  ...withForm,
  factorCode: { loginName: 'ada', way: 'FACTOR_WAY_RECOVERY_CODE', ways: ['FACTOR_WAY_TOTP'], ...rest },
})
const setUp = (rest: JsonObject = {}): JsonObject => ({ ...withForm, totpSetUp: { loginName: 'ada', ...rest } })
const secret = {
  uri: 'otpauth://totp/Acme:ada?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme',
  text: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
}
const mailed = (rest: JsonObject = {}): JsonObject => ({ ...withForm, mailedCode: { loginName: 'ada', ...rest } })

/** Second factors, and codes in place of passwords. */
export const factorScreens: Record<string, JsonObject> = {
  'app, trusts the browser': app({ trustDays: 30, ways: ['FACTOR_WAY_MAIL', 'FACTOR_WAY_RECOVERY_CODE'] }),
  'app, passed over': app({ mayPassOver: true, ways: ['FACTOR_WAY_PASSKEY'] }),
  'app, locked': app({ error: 'CODE_ERROR_LOCKED', ways: ['FACTOR_WAY_RECOVERY_CODE'] }),
  'app, locked, with nothing else': app({ error: 'CODE_ERROR_LOCKED' }),
  'recovery code': recovery(),
  'code by mail, trusts the browser': code({ isSent: true, trustDays: 30, maySetUp: true }),
  'code by mail, passed over': code({ mayPassOver: true, ways: ['FACTOR_WAY_PASSKEY', 'FACTOR_WAY_TOTP'] }),
  'code by mail, after one': code({ error: 'CODE_ERROR_SIGNED_IN_BY_MAIL' }),
  'app to set up': setUp(),
  'app to set up, with its secret': setUp({ secret }),
  'app, not by the mailbox': setUp({ error: 'CODE_ERROR_SIGNED_IN_BY_MAIL' }),
  'sign in by mailed code': { ...withForm, signIn: { mailsCode: true, hidesPasswordReset: true, mayRegister: true } },
  'mailed code': mailed({ keep: false }),
  'mailed code, over': mailed({ nameIsFixed: true, error: 'CODE_ERROR_OVER' }),
}
