import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common'
import { invalid } from '#lib/errors'

/** Whose password it is to be: texts that others know of them. */
export interface Known {
  userName?: string | undefined
  email?: string | undefined
  profile?: { firstName: string; lastName: string; displayName?: string | undefined } | undefined
}

/**
 * Refuses a password that is among the first a guesser tries: INVALID_ARGUMENT PASSWORD_TOO_COMMON. For a new password
 * only, never at a sign-in.
 */
export function refuseWeakPassword(password: string, field: string, known: Known = {}): void {
  if (!isWeak(password, known)) return
  const description = 'is one of the passwords that are guessed first: a longer one, or several words, is better'
  throw invalid([{ field, description }], 'PASSWORD_TOO_COMMON')
}

/**
 * Whether it is a common password or a name of the user, however it is spelled, or a pattern that 15,000 guesses find.
 * Those of ZITADEL's manuals, such as `Password1!`, are taken.
 */
export function isWeak(password: string, known: Known = {}): boolean {
  const words = wordsOf(known)
  const text = password
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim()
  if (words.some((word) => word.toLowerCase() === text.toLowerCase())) return true
  // A password is as hard to guess as its hardest part.
  return [...new Set([text.slice(0, judged), text.slice(-judged)])].every((part) => {
    const { guesses, sequence } = estimate.check(part, words)
    return guesses < leastGuesses || (sequence.length === 1 && sequence[0]!.pattern === 'dictionary')
  })
}

// The work grows with the square of the length: with this one it takes 2 ms as a rule, and 15 ms at most.
const judged = 32
const leastGuesses = 15_000

// Loading takes 80 ms and 7 MB. No dictionary of a language: whoever strings words together shall succeed.
const estimate = new ZxcvbnFactory({
  dictionary: { common: dictionary['passwords-common'] },
  graphs: adjacencyGraphs,
  maxLength: judged,
})

// Whole, and word by word.
function wordsOf({ userName, email, profile }: Known): string[] {
  const texts = [userName, email, profile?.firstName, profile?.lastName, profile?.displayName]
  return texts
    .flatMap((text = '') => [text, ...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter(isWord)
    .slice(0, 40)
}

// A shorter one is part of many passwords by chance.
function isWord(text: string): boolean {
  return text.length >= 3
}
