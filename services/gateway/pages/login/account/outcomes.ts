import type { TextKey } from '../texts/texts.ts'

interface Outcome {
  text: TextKey
  isGood: boolean
}

const good: Record<string, TextKey> = {
  saved: 'saved',
  'address-sent': 'addressSent',
  'address-proved': 'addressProved',
  'password-set': 'passwordChanged',
  'not-me': 'disowned',
  'not-me-passkey': 'disownedPasskey',
  'not-me-mail': 'disownedMail',
  'factor-added': 'factorAdded',
  'factor-removed': 'factorRemoved',
  'codes-removed': 'recoveryCodesRemoved',
  'signed-out': 'otherSignedOut',
  'passkey-added': 'passkeyAdded',
  'passkey-hidden': 'passkeyHidden',
  'passkey-removed': 'passkeyRemoved',
  'provider-removed': 'providerRemoved',
}

const bad: Record<string, TextKey> = {
  'given-name-invalid': 'nameInvalid',
  'family-name-invalid': 'nameInvalid',
  'display-name-invalid': 'nameInvalid',
  'language-invalid': 'languageInvalid',
  'address-invalid': 'emailInvalid',
  'address-same': 'addressSame',
  'code-wrong': 'recoveryCodeWrong',
  throttled: 'throttledLater',
  'app-code-wrong': 'appCodeWrong',
  'factor-refused': 'addRefused',
  'factor-last': 'factorLast',
  'codes-refused': 'recoveryCodesNeedFactor',
  'password-invalid': 'passwordNeedsLength',
  'password-common': 'passwordTooCommon',
  'password-unused': 'passwordUnused',
  'last-owner': 'lastOwner',
  'address-new': 'addressNew',
  'passkey-late': 'passkeyLate',
  'passkey-unverified': 'passkeyUnverified',
  'passkey-invalid': 'passkeyInvalid',
  'passkey-exists': 'passkeyExists',
  'passkey-full': 'passkeysFull',
  'passkey-not-allowed': 'passkeysNotAllowed',
  'passkey-last': 'passkeyLast',
  'provider-last': 'providerLast',
  'passkey-last-but-mail': 'passkeyLastButMail',
  'passkey-by-mail': 'passkeysByMail',
  'passkey-name-invalid': 'passkeyNameInvalid',
}

/** What a page says of the form before. A word that comes from elsewhere says nothing. */
export function outcomeOf(word: string): Outcome | undefined {
  if (Object.hasOwn(good, word)) return { text: good[word]!, isGood: true }
  return Object.hasOwn(bad, word) ? { text: bad[word]!, isGood: false } : undefined
}
