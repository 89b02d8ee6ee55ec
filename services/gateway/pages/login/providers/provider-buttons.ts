import { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'
import { type ProviderButton, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { addressOf, apart, type Shown } from '../form.ts'
import { fill, html, type Part } from '../html.ts'
import type { TextKey } from '../texts/texts.ts'

/**
 * A button for each provider, in the form of the sign-in: its box to stay signed in counts for them, too. `areAlone`: the page has no
 * other way.
 */
export function providerButtons(
  { requestId, language: { text } }: Shown,
  providers: readonly ProviderButton[],
  areAlone: boolean,
): Part {
  if (providers.length === 0) return ''
  const buttons = providers.map(
    ({ idpId, name, stylingType }) =>
      html`<button
        class="other provider"
        formaction="${addressOf(requestId)}/provider"
        name="idp_id"
        value="${idpId}"
        formnovalidate
      >
        ${stylingType === IDPStylingType.STYLING_TYPE_GOOGLE && google}
        <span>${fill(text.goOnWith, { provider: apart(name) })}</span>
      </button>`,
  )
  return html`${!areAlone && html`<p class="hint ways">${text.anotherWay}</p>`} ${buttons}`
}

// Its mark in its own colours, as Google's guidelines for buttons have it: left of the words, and without a frame of its own.
const google = html`<svg class="mark" viewBox="0 0 48 48" aria-hidden="true" focusable="false">
  <path fill="#EA4335" d="M24 9.5c3.5 0 6.7 1.2 9.2 3.6l6.9-6.9A24 24 0 0 0 2.6 13.2l8 6.3A14.3 14.3 0 0 1 24 9.5z" />
  <path fill="#4285F4" d="M47 24.6c0-1.6-.2-3.1-.4-4.6H24v9h12.9a11 11 0 0 1-4.8 7.3l7.7 6A23.7 23.7 0 0 0 47 24.6z" />
  <path fill="#FBBC05" d="M10.5 28.6a14.500 14.500 0 0 1 0-9.200l-7.900-6.200a24 24 0 0 0 0 21.500z" />
  <path
    fill="#34A853"
    d="M24 48c6.500 0 11.900-2.100 15.900-5.800l-7.700-6a14.300 14.300 0 0 1-21.700-7.600l-7.900 6.200A24 24 0 0 0 24 48z"
  />
</svg>`

/** What a page says of a sign-in at a provider that failed. */
export const providerErrors: Partial<Record<SignInError, TextKey>> = {
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_AVAILABLE]: 'providerNotAvailable',
  [SignInError.SIGN_IN_ERROR_PROVIDER_DENIED]: 'providerDenied',
  [SignInError.SIGN_IN_ERROR_PROVIDER_INVALID]: 'providerInvalid',
  [SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED]: 'providerRefused',
  [SignInError.SIGN_IN_ERROR_PROVIDER_NOT_FRESH]: 'providerNotFresh',
  [SignInError.SIGN_IN_ERROR_PROVIDER_UNKNOWN]: 'providerUnknown',
  [SignInError.SIGN_IN_ERROR_PROVIDER_THROTTLED]: 'providerThrottled',
}
