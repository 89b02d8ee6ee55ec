import type { ProviderTrialPage } from '#gen/roster/users/v1/sign_in_service'
import { strong } from '../form.ts'
import { fill, html, type Html, type Part } from '../html.ts'
import type { Language } from '../language/language.ts'
import { type Document, frame } from '../shell.ts'
import type { Texts } from '../texts/texts.ts'

/** What a provider said to the administrator who tried it. */
export function providerTrialPage(language: Language, page: ProviderTrialPage): Document {
  const { text } = language
  const { provider, problem, issuer, subject, claims, words, secondFactors, rows } = page
  const names = { provider: strong(provider) }
  const content =
    problem === ''
      ? html`<p>${fill(text.trialIntro, names)}</p>
          ${table([
            [text.trialIssuer, issuer],
            [text.trialSubject, subject],
          ])}
          <h2>${text.trialRead}</h2>
          ${table(words.map(({ part, claim, value }) => [`${nameOf(part, text)} (${claim || '–'})`, value || text.trialNone]))}
          <h2>${text.trialFactors}</h2>
          <p>
            ${
              secondFactors.length > 0
                ? fill(text.trialTwoFactors, { words: apartList(secondFactors) })
                : text.trialOneFactor
            }
          </p>
          <h2>${text.trialRoles}</h2>
          ${
            rows.length === 0
              ? html`<p>${text.trialNoRoles}</p>`
              : table(
                  rows.map((row) => [`${row.claim} = ${row.value}`, `${row.projectId}: ${row.roleKeys.join(', ')}`]),
                )
          }
          <h2>${text.trialSaid}</h2>
          <pre>${visible(claims)}</pre>`
      : html`<p>${fill(text.trialFailed, names)}</p>
          <p id="status" class="bad" role="alert">${problem}</p>
          <p>${text.trialNobody}</p>`
  return frame(language, text.trial, content)
}

function table(rows: [string, string][]): Part {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${visible(name)}</dt>
          <dd>
            <code><bdi>${visible(value)}</bdi></code>
          </dd>`,
    )}
  </dl>`
}

function apartList(words: string[]): Html {
  return html`${words.map((word, at) => html`${at > 0 && ', '}<bdi>${visible(word)}</bdi>`)}`
}

// A part that a newer release reads is called as it calls it.
function nameOf(part: string, text: Texts): string {
  const names: Record<string, string> = {
    userName: text.trialUserName,
    givenName: text.givenName,
    familyName: text.familyName,
    displayName: text.trialDisplayName,
    nickName: text.trialNickName,
    email: text.email,
    emailVerified: text.trialVerified,
    language: text.language,
  }
  return names[part] ?? part
}

// A stranger wrote it: what cannot be seen, or turns the text around, is shown by its number.
function visible(text: string): string {
  return text.replaceAll(/[\p{Cf}\u2028\u2029]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
