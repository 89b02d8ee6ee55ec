import type { SecondFactorsPart } from '#gen/roster/users/v1/sign_in_service'
import { fill, html, type Html, type Part } from '../html.ts'
import { CodeError } from '#gen/roster/users/v1/sign_in_service'
import { secretPart, totpField } from '../factors/totp.ts'
import { accountForm, type AccountShown, pathTo } from './account-frame.ts'

const none: SecondFactorsPart = { hasTotp: false, mayAdd: false, mayHaveRecoveryCodes: false, recoveryCodes: [] }

/** Which second factors the person has, and the ways to change them. */
export function secondFactorsList(shown: AccountShown): Part {
  const { text } = shown.language
  const intro = shown.page.signsInByMail ? text.secondFactorsByMail : text.secondFactorsIntro
  const { hasTotp, recoveryCodesLeft: left, mayAdd, mayHaveRecoveryCodes } = shown.page.secondFactors ?? none
  return html`<h2>${text.secondFactors}</h2>
    <p>${intro}</p>
    <ul class="list">
      <li>
        <strong>${text.authenticator}</strong><br />${hasTotp ? text.isSetUp : text.isNotSetUp}<br />
        ${
          hasTotp || mayAdd
            ? html`<a href="${pathTo(shown, 'authenticator')}">${hasTotp ? text.removeApp : text.setUpApp}</a>`
            : text.addRefused
        }
      </li>
      ${
        (mayHaveRecoveryCodes || left !== undefined) &&
        html`<li>
          <strong>${text.recoveryCodes}</strong><br />${
            left === undefined ? text.noRecoveryCodes : fill(text.recoveryCodesLeft, { left })
          }<br />
          <a href="${pathTo(shown, 'recovery-codes')}">${text.makeRecoveryCodes}</a>
        </li>`
      }
    </ul>`
}

/** An authenticator app is set up, or removed. */
export function authenticatorPart(shown: AccountShown): Html {
  const { language, page } = shown
  const { text } = language
  const { hasTotp, mayAdd, secret } = page.secondFactors ?? none
  const error = page.outcome === 'app-code-wrong' ? CodeError.CODE_ERROR_WRONG : CodeError.CODE_ERROR_UNSPECIFIED
  return html`<h2>${hasTotp ? text.removeApp : text.setUpApp}</h2>
    ${
      hasTotp
        ? html`<p>${text.removeAppIntro}</p>
            ${accountForm(shown, 'authenticator', html`<button class="other danger" name="action" value="remove">${text.removeApp}</button>`)}`
        : !mayAdd
          ? html`<p>${text.addRefused}</p>`
          : html`<p>${text.setUpAppIntro}</p>
              ${accountForm(
                shown,
                'authenticator',
                secret
                  ? html`${secretPart(language, secret)} ${totpField(language, { error })}
                      <button name="action" value="confirm">${text.setUpApp}</button>`
                  : html`<button name="action" value="begin">${text.goOn}</button>`,
              )}`
    }
    <p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`
}

/** Recovery codes are made, and shown once; or removed. */
export function recoveryCodesPart(shown: AccountShown): Html {
  const { text } = shown.language
  const { recoveryCodes, recoveryCodesLeft: left, mayHaveRecoveryCodes } = shown.page.secondFactors ?? none
  if (recoveryCodes.length > 0)
    return html`<h2>${text.recoveryCodes}</h2>
      <p>${text.recoveryCodesOnce}</p>
      <ol class="codes">
        ${recoveryCodes.map((code) => html`<li><code>${code}</code></li>`)}
      </ol>
      <p class="hint">${text.recoveryCodesPrint}</p>
      <p class="way"><a href="${pathTo(shown, 'sign-in')}">${text.recoveryCodesKept}</a></p>`
  return html`<h2>${text.makeRecoveryCodes}</h2>
    <p>${text.recoveryCodesIntro}</p>
    ${left !== undefined && html`<p>${fill(text.recoveryCodesLeft, { left })} ${text.recoveryCodesReplace}</p>`}
    ${
      mayHaveRecoveryCodes
        ? accountForm(
            shown,
            'recovery-codes',
            html`<button name="action" value="make">${text.makeRecoveryCodes}</button>
              ${left !== undefined && html`<button class="other danger" name="action" value="remove">${text.removeRecoveryCodes}</button>`}`,
          )
        : html`<p>${text.recoveryCodesNeedFactor}</p>`
    }
    <p><a href="${pathTo(shown, 'sign-in')}">${text.cancel}</a></p>`
}
