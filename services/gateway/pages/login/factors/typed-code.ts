import { CodeError, type FactorCodePage } from '#gen/roster/users/v1/sign_in_service'
import { destination, form, type Shown, strong } from '../form.ts'
import { fill, html, type Part } from '../html.ts'
import { duration } from '../language/language.ts'
import { type Document, frame } from '../shell.ts'
import { problems } from './otp-email.ts'
import { trustBox } from './trust-box.ts'
import { waysOut } from './ways-out.ts'

/** A page with one field, for a code that the person has. */
export function typedCodePage(
  shown: Shown,
  page: FactorCodePage,
  { factor, title, intro, wrong, field }: { factor: string; title: string; intro: string; wrong: string; field: Part },
): Document {
  const { language } = shown
  const { text } = language
  const isLocked = page.error === CodeError.CODE_ERROR_LOCKED
  const key = problems[page.error]
  const isWrong = page.error === CodeError.CODE_ERROR_WRONG
  const message = isWrong ? html`${wrong}` : key && fill(text[key], { wait: duration(language, page.retryAfter) })
  const content = html`${destination(shown)}
    <p>${fill(text.signsInAs, { account: strong(page.loginName) })} ${!isLocked && intro}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`}
    ${form(
      shown,
      '/code',
      html`<input type="hidden" name="factor" value="${factor}" />
        ${!isLocked && html`${field} ${trustBox(text, page.trustDays)} <button name="action" value="check">${text.goOn}</button>`}
        ${waysOut(shown, { ways: page.ways, mayPassOver: page.mayPassOver, isMain: isLocked })}`,
    )}`
  return frame(language, title, content, message ? { windowTitle: fill(text.problem, { title }) } : {})
}

/** What a field says of a code before. */
export function faultOf({ error }: { error: CodeError }): Part {
  return [
    problems[error] !== undefined && html`aria-describedby="status"`,
    error === CodeError.CODE_ERROR_WRONG && html` aria-invalid="true"`,
  ]
}
