type Text = string | ((...values: never[]) => string)

/** The same texts in another language: the compiler names one that is missing, or takes other values. */
type Same<T> = { [K in keyof T]: T[K] extends (...values: infer V) => string ? (...values: V) => string : string }

export const languages = { en: 'English', de: 'Deutsch' } as const
export type Language = keyof typeof languages

const chosen = localStorage.getItem('roster-console-language')
/** The reader's choice, else the first of the browser's languages that the console speaks. */
export const language: Language =
  [chosen, ...navigator.languages].map((tag) => tag?.slice(0, 2)).find((tag) => tag === 'en' || tag === 'de') ?? 'en'
document.documentElement.lang = language

/** Texts of a view, beside the view. The page is loaded again where the language changes. */
export function texts<T extends Record<string, Text>>(en: T, de: NoInfer<Same<T>>): Same<T> {
  return language === 'de' ? de : (en as unknown as Same<T>)
}

export function choose(next: Language): void {
  localStorage.setItem('roster-console-language', next)
  location.reload()
}
