import { type NoticePage, type ParameterMistake, ParameterRule } from '#gen/roster/users/v1/sign_in_service'
import { apart } from './form.ts'
import { fill, html, type Part } from './html.ts'
import type { Language } from './language/language.ts'
import { rules } from './texts/mistake-texts.ts'

/** What is wrong with an application's request. */
type Facts = Pick<NoticePage, 'mistake' | 'clientId' | 'redirectUri' | 'nearestRedirectUri'>

/**
 * What a page says for developers, with the id of the request for it, which the log has, too. None where it is for people
 * alone. `asked`: what is shown even where it was not sent.
 */
export function factsOf(
  language: Language,
  { mistake, clientId, redirectUri, nearestRedirectUri }: Facts,
  requestId: string,
  asked: { isUri: boolean; isClient: boolean } = { isUri: false, isClient: false },
): Part {
  const { text } = language
  const said: [string, Part][] = [
    [text.mistake, mistake && sentenceOf(language, mistake)],
    [text.redirectUriSent, literal(redirectUri) || (asked.isUri && '–')],
    [text.redirectUriNearest, literal(nearestRedirectUri)],
    [text.clientIdSent, literal(clientId) || (asked.isClient && '–')],
  ]
  const facts = said.filter(([, part]) => part)
  if (facts.length === 0) return false
  return html`<dl class="facts">
    ${[...facts, [text.requestId, literal(requestId)] as const].map(
      ([name, part]) =>
        html`<dt>${name}</dt>
          <dd>${part}</dd>`,
    )}
  </dl>`
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
