/**
 * What is wrong with a field, in the reader's language. The API says it in English; a sentence that has no other words here
 * stays as it is.
 */
export function sayFault(fault: string, language: string): string {
  if (language !== 'de') return fault
  const found = german.find(([pattern]) => pattern.test(fault))
  return found ? fault.replace(found[0], found[1]) : fault
}

const german: [RegExp, string][] = [
  [/^must be at least 1 characters$/, 'darf nicht leer sein'],
  [/^must be at least (\d+) characters$/, 'muss mindestens $1 Zeichen haben'],
  [/^must be at most (\d+) characters$/, 'darf höchstens $1 Zeichen haben'],
  [/^must be greater than or equal to (\S+) and less than or equal to (\S+)$/, 'muss zwischen $1 und $2 liegen'],
  [/^must contain at least 1 item\(s\)$/, 'braucht mindestens eine Angabe'],
  [/^must contain at most (\d+) item\(s\)$/, 'darf höchstens $1 Angaben haben'],
  [/^must be one address, such as (\S+)$/, 'muss eine Adresse sein, etwa $1'],
  [/^must be a well-formed BCP 47 language tag$/, 'muss ein Kürzel einer Sprache sein, etwa de oder de-CH'],
  [/^must not begin or end with a blank$/, 'darf nicht mit einem Leerzeichen beginnen oder enden'],
  [/^must not hold a character that cannot be seen, such as (\S+)$/, 'darf kein unsichtbares Zeichen haben wie $1'],
  [/^must hold a character that can be seen$/, 'muss ein sichtbares Zeichen haben'],
  [/^must be in the future$/, 'muss in der Zukunft liegen'],
  [
    /^must be 1 to 200 of (.+), the first a letter or a digit$/,
    'muss 1 bis 200 Zeichen haben, nur $1, das erste ein Buchstabe oder eine Ziffer',
  ],
  [
    /^must be 1 to 200 of the characters of ASCII, without blanks$/,
    'muss 1 bis 200 Zeichen von ASCII haben, ohne Leerzeichen',
  ],
  [/^must be 1 to 200 of (.+)$/, 'muss 1 bis 200 Zeichen haben, nur $1'],
  [/^does not match regex pattern `(.+)`$/, 'passt nicht zum Muster $1'],
]
