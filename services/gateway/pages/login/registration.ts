import {
  type RegistrationCodePage,
  RegistrationError as Reason,
  type RegistrationPage,
} from '#gen/roster/users/v1/sign_in_service'
import { destination, form, type Shown } from './form.ts'
import { fill, html, type Part } from './html.ts'
import { keepBox } from './keep-box.ts'
import { duration } from './language/language.ts'
import { passwordHint, passwordScript, withShowButton } from './password-field.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey, Texts } from './texts/texts.ts'

const problems: Partial<Record<Reason, TextKey>> = {
  [Reason.REGISTRATION_ERROR_EMAIL_INVALID]: 'emailInvalid',
  [Reason.REGISTRATION_ERROR_GIVEN_NAME_INVALID]: 'nameInvalid',
  [Reason.REGISTRATION_ERROR_FAMILY_NAME_INVALID]: 'nameInvalid',
  [Reason.REGISTRATION_ERROR_THROTTLED]: 'throttled',
  [Reason.REGISTRATION_ERROR_CODE_WRONG]: 'codeWrong',
  [Reason.REGISTRATION_ERROR_CODE_OVER]: 'codeOver',
  [Reason.REGISTRATION_ERROR_PASSWORD_INVALID]: 'passwordInvalid',
  [Reason.REGISTRATION_ERROR_PASSWORD_TOO_COMMON]: 'passwordTooCommon',
}

/** What somebody gives to register. */
export function registrationPage(shown: Shown, page: RegistrationPage): Document {
  const { text } = shown.language
  const fields = html`${registrationFields(shown, page)}
    <button name="action" value="register">${text.mailCode}</button>
    <button class="text" name="action" value="back" formnovalidate>${text.haveAccount}</button>`
  return asking(shown, page, { title: text.register, intro: text.registerIntro, step: '/registration', fields })
}

/** The fields of who registers. */
export function registrationFields(
  { language: { text, tag } }: Shown,
  page: Pick<RegistrationPage, 'email' | 'givenName' | 'familyName' | 'error'>,
): Part {
  return html`<input type="hidden" name="language" value="${tag}" />
    ${field(page, text, { name: 'email', type: 'email', autocomplete: 'email', value: page.email, most: 200, wrong: Reason.REGISTRATION_ERROR_EMAIL_INVALID })}
    ${field(page, text, { name: 'given_name', autocomplete: 'given-name', value: page.givenName, most: 200, wrong: Reason.REGISTRATION_ERROR_GIVEN_NAME_INVALID })}
    ${field(page, text, { name: 'family_name', autocomplete: 'family-name', value: page.familyName, most: 200, wrong: Reason.REGISTRATION_ERROR_FAMILY_NAME_INVALID })}`
}

/** What is wrong with what was given. */
export function sayProblem(
  { language }: Shown,
  { error, retryAfter }: { error: Reason; retryAfter: number },
  values: Record<string, Part> = {},
): Part {
  const key = problems[error]
  return key && fill(language.text[key], { ...values, wait: duration(language, retryAfter) })
}

/** The code that was mailed, and the password that the account gets. */
export function registrationCodePage(shown: Shown, page: RegistrationCodePage): Document {
  const { text } = shown.language
  const { email, passwordMin, passwordMax, keep } = page
  const lengths = { min: passwordMin, max: passwordMax }
  const password = field(page, text, {
    name: 'password',
    type: 'password',
    autocomplete: 'new-password',
    value: '',
    least: passwordMin,
    most: passwordMax,
    hint: fill(text.passwordLengths, lengths),
    wrong: [Reason.REGISTRATION_ERROR_PASSWORD_INVALID, Reason.REGISTRATION_ERROR_PASSWORD_TOO_COMMON],
  })
  // By the address a manager of passwords keeps the new one.
  const fields = html`<label for="email">${text.email}</label>
    <input id="email" type="email" value="${email}" autocomplete="username" readonly />
    ${field(page, text, { name: 'code', autocomplete: 'one-time-code', value: '', most: 20, wrong: Reason.REGISTRATION_ERROR_CODE_WRONG })}
    ${page.withoutPassword ? html`<p>${text.joinByCode}</p>` : password} ${keepBox(text, keep)}
    <button name="action" value="finish">${text.createAccount}</button>
    <button class="text" name="action" value="back" formnovalidate>${text.otherCode}</button>`
  return asking(shown, page, {
    title: text.enterCode,
    intro: text.codeIntro,
    step: '/registration/code',
    fields,
    values: lengths,
    script: passwordScript,
  })
}

interface Asking {
  title: string
  intro: Part
  step: '/registration' | '/registration/code'
  fields: Part
  /** Of the problem. */
  values?: Record<string, Part>
  script?: string
}

function asking(
  shown: Shown,
  { error, retryAfter }: { error: Reason; retryAfter: number },
  { title, intro, step, fields, values, script }: Asking,
): Document {
  const { language } = shown
  const { text } = language
  const message = sayProblem(shown, { error, retryAfter }, values)
  const content = html`${destination(shown)}
    <p>${intro}</p>
    ${message && html`<p id="status" class="bad" role="alert">${message}</p>`} ${form(shown, step, fields)}`
  return frame(language, title, content, {
    ...(script !== undefined && { script }),
    ...(message && { windowTitle: fill(text.problem, { title }) }),
  })
}

interface Field {
  name: 'email' | 'given_name' | 'family_name' | 'code' | 'password'
  type?: string
  autocomplete: string
  value: string
  least?: number
  most: number
  hint?: Part
  /** What says that this field is wrong. */
  wrong: Reason | Reason[]
}

const labels = {
  email: 'email',
  given_name: 'givenName',
  family_name: 'familyName',
  code: 'mailedCode',
  password: 'newPassword',
} as const satisfies Record<Field['name'], TextKey>

// The field that is wrong has the focus, else the first.
function field(
  { error }: { error: Reason },
  text: Texts,
  { name, type, autocomplete, value, least, most, hint, wrong }: Field,
) {
  const isWrong = [wrong].flat().includes(error)
  const isFirst = name === 'email' || name === 'code'
  const describedBy = [hint && `${name}-hint`, isWrong && 'status'].filter(Boolean).join(' ')
  const input = html`<input
    id="${name}"
    name="${name}"
    type="${type ?? 'text'}"
    value="${value}"
    ${least !== undefined && html`minlength="${least}"`}
    maxlength="${most}"
    autocomplete="${autocomplete}"
    ${name === 'code' && html`class="code" autocapitalize="characters" spellcheck="false"`}
    required
    ${describedBy !== '' && html`aria-describedby="${describedBy}"`}
    ${isWrong && html`aria-invalid="true"`}
    ${(isWrong || (isFirst && ofNoField.has(error))) && html`autofocus`}
  />`
  return html`<label for="${name}">${text[labels[name]]}</label>
    ${type === 'password' ? withShowButton(text, input) : input} ${hint && passwordHint(text, hint)}`
}

const ofNoField = new Set<Reason>([
  Reason.REGISTRATION_ERROR_UNSPECIFIED,
  Reason.REGISTRATION_ERROR_THROTTLED,
  Reason.REGISTRATION_ERROR_CODE_OVER,
])
