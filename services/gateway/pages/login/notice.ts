import {
  type Destination,
  type NoticePage,
  NoticeReason,
  type ParameterMistake,
  ParameterRule,
} from '#gen/roster/users/v1/sign_in_service'
import { apart, namesOf } from './form.ts'
import { fill, html, type Part } from './html.ts'
import type { Language } from './language.ts'
import { checkLocation } from './location.ts'
import { rules } from './mistake-texts.ts'
import { type Document, frame } from './shell.ts'
import type { TextKey, Texts } from './texts.ts'
import { formTo, hostOf } from './ways-out.ts'

/** A text that has another one beside it, with more to say. */
export type NoticeKey = { [Key in TextKey]: `${Key}Hint` extends keyof Texts ? Key : never }[TextKey]

const keys: Partial<Record<NoticeReason, NoticeKey>> = {
  [NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN]: 'clientUnknown',
  [NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID]: 'redirectUriInvalid',
  [NoticeReason.NOTICE_REASON_TOO_LARGE]: 'tooLarge',
  [NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN]: 'requestUnknown',
  [NoticeReason.NOTICE_REASON_REQUEST_ANSWERED]: 'requestAnswered',
  [NoticeReason.NOTICE_REASON_CANCELLED]: 'cancelled',
  [NoticeReason.NOTICE_REASON_FORM_INVALID]: 'formInvalid',
  [NoticeReason.NOTICE_REASON_SIGNED_OUT]: 'signedOut',
  [NoticeReason.NOTICE_REASON_STILL_SIGNED_IN]: 'stillSignedIn',
  [NoticeReason.NOTICE_REASON_REQUEST_FAULTY]: 'requestFaulty',
  [NoticeReason.NOTICE_REASON_PASSWORD_SET]: 'passwordSet',
}

/** A page without a form, for a reason that users gives. */
export function noticePage(language: Language, page: NoticePage, { destination, requestId }: Told): Document {
  const { text } = language
  const { reason, location, applicationOrigin: origin, formPost } = page
  const back =
    origin !== '' && html`<a href="${checkLocation(origin)}">${fill(text.backTo, { host: apart(hostOf(origin)) })}</a>`
  const refuse = location !== '' && html`<a id="back" href="${checkLocation(location)}">${text.backToApplication}</a>`
  const facts = factsOf(language, page, requestId)
  return notice(language, keys[reason] ?? 'failed', destination ? namesOf(destination) : {}, refuse || back, {
    facts,
    form: formPost && formTo(formPost, text.backToApplication),
  })
}

/** What a page says beside what users gave it. */
interface Told {
  destination?: Destination | undefined
  /** Of the request for the page: the log has it, too. */
  requestId: string
}

// Developers look for them. An answer that names none of them is for people alone.
function factsOf(language: Language, page: NoticePage, requestId: string): [string, Part][] {
  const { text } = language
  const { reason, mistake, clientId, redirectUri, nearestRedirectUri } = page
  const isUri = reason === NoticeReason.NOTICE_REASON_REDIRECT_URI_INVALID
  const isClient = isUri || reason === NoticeReason.NOTICE_REASON_CLIENT_UNKNOWN
  const said: [string, Part][] = [
    [text.mistake, mistake && sentenceOf(language, mistake)],
    [text.redirectUriSent, isUri && (literal(redirectUri) || '–')],
    [text.redirectUriNearest, literal(nearestRedirectUri)],
    [text.clientIdSent, isClient && (literal(clientId) || '–')],
  ]
  const facts = said.filter(([, part]) => part)
  return facts.length > 0 ? [...facts, [text.requestId, literal(requestId)]] : []
}

function sentenceOf({ tag, text }: Language, { parameter, rule, values }: ParameterMistake): Part {
  const texts = rules[tag]!
  const sentence = rule in texts ? texts[rule as keyof typeof texts] : texts[ParameterRule.PARAMETER_RULE_UNSPECIFIED]
  return fill(sentence, {
    parameter: literal(parameter) || text.someParameter,
    values: values.map((value, at) => html`${at > 0 && ', '}${literal(value)}`),
  })
}

function literal(text: string): Part {
  return text !== '' && html`<code>${apart(text)}</code>`
}

/** A page that only says something. */
export function notice(
  language: Language,
  key: NoticeKey,
  values: Record<string, Part>,
  link?: Part,
  { facts = [], form }: { facts?: [string, Part][]; form?: Part } = {},
): Document {
  const { text } = language
  const content = html`<p>${fill(text[`${key}Hint`], values)}</p>
    ${
      facts.length > 0 &&
      html`<dl class="facts">
        ${facts.map(
          ([name, part]) =>
            html`<dt>${name}</dt>
              <dd>${part}</dd>`,
        )}
      </dl>`
    }
    ${link && html`<p>${link}</p>`} ${form}`
  return frame(language, text[key], content, { leadsElsewhere: form !== undefined })
}
