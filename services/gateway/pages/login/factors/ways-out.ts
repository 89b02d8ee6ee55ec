import { FactorWay } from '#gen/roster/users/v1/sign_in_service'
import { addressOf, isOwn, type Shown } from '../form.ts'
import { html, type Part } from '../html.ts'
import type { TextKey } from '../texts/texts.ts'

type Way = [action: string, text: TextKey, form?: 'passkey']

const ways: Partial<Record<FactorWay, Way>> = {
  [FactorWay.FACTOR_WAY_PASSKEY]: ['ask', 'usePasskey', 'passkey'],
  [FactorWay.FACTOR_WAY_TOTP]: ['by-totp', 'byTotp'],
  [FactorWay.FACTOR_WAY_MAIL]: ['by-mail', 'byMail'],
  [FactorWay.FACTOR_WAY_RECOVERY_CODE]: ['by-recovery-code', 'byRecoveryCode'],
}

const setUp: Way = ['set-up', 'setUpApp']

/**
 * The buttons of a page of a second factor that lead elsewhere. `isMain`: there is nothing else to do on it. `at`: the form
 * that the page has.
 */
export function waysOut(
  shown: Shown,
  {
    ways: others,
    maySetUp = false,
    mayPassOver = false,
    isMain = false,
    at = 'code',
  }: { ways: FactorWay[]; maySetUp?: boolean; mayPassOver?: boolean; isMain?: boolean; at?: 'code' | 'passkey' },
): Part {
  const { text } = shown.language
  const isLast = isMain && others.length === 0 && !maySetUp
  const offered = [...others.flatMap((way) => (ways[way] ? [ways[way]] : [])), ...(maySetUp ? [setUp] : [])]
  return [
    offered.length > 0 && !isMain && html`<p class="hint ways">${text.anotherWay}</p>`,
    offered.map(([action, key, to = 'code'], index) => {
      const look = (!isMain || index > 0) && html`class="other"`
      return html`<button ${look} name="action" value="${action}" ${formAt(shown, to, at)} formnovalidate>
        ${text[key]}
      </button>`
    }),
    mayPassOver &&
      html`<p class="hint ways">${text.passOverHint}</p>
        <button class="text" name="action" value="pass-over" formnovalidate>${text.passOver}</button>`,
    html`<button ${!isLast && html`class="text"`} name="action" value="another-account" formnovalidate>
        ${text.otherAccount}
      </button>
      ${!isOwn(shown) && html`<button class="text" name="action" value="cancel" formnovalidate>${text.cancel}</button>`}`,
  ]
}

// Where a button sends its form to. None: where the form goes.
function formAt({ requestId }: Shown, to: string, at: string): Part {
  return to !== at && html`formaction="${addressOf(requestId)}/${to}"`
}
