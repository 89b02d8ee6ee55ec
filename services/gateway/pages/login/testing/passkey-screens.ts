import type { JsonObject } from '@bufbuild/protobuf'
import { date, invited, ofAccount, withForm } from './parts.ts'

const challenge = 'Y2hhbGxlbmdl'
const toSign = { options: JSON.stringify({ challenge, rpId: '127.0.0.1', userVerification: 'required' }) }
const toMake = {
  options: JSON.stringify({
    challenge,
    rp: { id: '127.0.0.1', name: 'Acme' },
    user: { id: 'dTE', name: 'ada', displayName: 'Ada Lovelace' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  }),
}
const passkey = (rest: JsonObject = {}): JsonObject => ({
  ...withForm,
  passkey: { loginName: 'ada', passkey: toSign, ...rest },
})
const lengths = { passwordMin: 8, passwordMax: 200 }
const recoveryCode = (rest: JsonObject = {}): JsonObject => ({
  ...withForm,
  recoveryCode: { loginName: 'ada', offersPasskey: true, ...lengths, ...rest },
})
const inPlace = (rest: JsonObject = {}): JsonObject => ({
  ...withForm,
  recoveryPasskey: { loginName: 'ada', passkey: toMake, ...rest },
})
const own = { id: 'p1', name: 'Laptop', creationDate: date, credentialId: 'Y3JlZA' }

/** Pages of passkeys. One that a browser makes without asking leaves its page by itself, and is not among them. */
export const passkeyScreens: Record<string, JsonObject> = {
  'sign in, also by passkey': { ...withForm, signIn: { passkey: toSign, recovers: true, keep: false } },
  'sign in, passkey unknown': {
    ...withForm,
    signIn: { passkey: toSign, recovers: true, error: 'SIGN_IN_ERROR_PASSKEY_UNKNOWN' },
  },
  'passkey as second factor': passkey({ ways: ['FACTOR_WAY_TOTP', 'FACTOR_WAY_MAIL'] }),
  'passkey, passed over': passkey({ mayPassOver: true, error: 'SIGN_IN_ERROR_PASSKEY_UNVERIFIED' }),
  'passkey of another domain': {
    ...withForm,
    passkey: { loginName: 'ada', isDead: true, ways: ['FACTOR_WAY_MAIL'] },
  },
  'passkey offered': { ...withForm, passkeyOffer: { loginName: 'ada', passkey: toMake } },
  'passkey offered, and unfit': { ...withForm, passkeyOffer: { loginName: 'ada' } },
  'recover, also by passkey': recoveryCode({ keep: true }),
  'recover by passkey, without a factor': recoveryCode({ error: 'RECOVERY_ERROR_NO_SECOND_FACTOR' }),
  'passkey in place of the password': inPlace({ keep: false }),
  'passkey in place of the password, unverified': inPlace({ error: 'RECOVERY_ERROR_PASSKEY_UNVERIFIED' }),
  'invitation, also by passkey': { ...withForm, invitation: { ...invited, passkey: toMake, keep: false } },
  'invitation, unfit passkey': {
    ...withForm,
    invitation: { ...invited, passkey: toMake, namesAreKnown: true, error: 'INVITATION_ERROR_PASSKEY_INVALID' },
  },
  'invitation without a password, unfit passkey': {
    ...withForm,
    invitation: { ...invited, withoutPassword: true, passkey: toMake, error: 'INVITATION_ERROR_PASSKEY_INVALID' },
  },
  'invitation without a password': { ...withForm, invitation: { ...invited, withoutPassword: true, passkey: toMake } },
  'link of a passkey': { passkeyLink: { userId: 'u1', codeId: 'c1' } },
  'link of a passkey, opened': { passkeyLink: { userId: 'u1', codeId: 'c1', passkey: toMake } },
  'passkey added': { notice: { reason: 'NOTICE_REASON_PASSKEY_ADDED' } },
  'passkey not added': { notice: { reason: 'NOTICE_REASON_PASSKEY_NOT_ADDED' } },
  'account, passkeys': ofAccount({
    section: 'passkeys',
    passkeys: {
      passkeys: [
        { ...own, maker: 'iCloud Keychain', backedUp: true, lastUseDate: date },
        { ...own, id: 'p2', name: '', secondOnly: true },
        { ...own, id: 'p3', isDead: true },
      ],
      newPasskey: toMake,
      rpId: '127.0.0.1',
      userHandle: 'dTE',
    },
  }),
  'account, passkeys of who signs in by mail': ofAccount({ section: 'passkeys', passkeys: { byMailAlone: true } }),
  'account, sign-in with factors': ofAccount({
    section: 'sign-in',
    passkeys: { passkeys: [own] },
    secondFactors: { hasTotp: true, recoveryCodesLeft: 2, mayAdd: true, mayHaveRecoveryCodes: true },
  }),
}
