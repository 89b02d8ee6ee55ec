import { nameFaults, type NameKind } from '#lib/names/name-faults'

/** A rule of a field, as proto/ declares it. */
export type Rule =
  | { rule: 'minLength' | 'maxLength'; value: number }
  | { rule: 'range'; from: number; to: number }
  | { rule: 'pattern'; value: string; says: string }
  | { rule: 'name'; value: NameKind }

/** The rules of a request, by the path of each field in JSON, such as `email.email`. */
export type Rules = Record<string, Rule[]>

/** What is wrong with the text of a field, in the words of the API. */
export function faultsOf(rules: Rule[] = [], text: string): string[] {
  return rules.flatMap((rule) => faultOf(rule, text))
}

function faultOf(rule: Rule, text: string): string[] {
  // Characters, not units of UTF-16: so the API counts.
  const length = [...text].length
  switch (rule.rule) {
    case 'minLength':
      return length < rule.value ? [`must be at least ${rule.value} characters`] : []
    case 'maxLength':
      return length > rule.value ? [`must be at most ${rule.value} characters`] : []
    case 'range': {
      const { from, to } = rule
      const isIn = /^-?\d+$/.test(text) && Number(text) >= from && Number(text) <= to
      return isIn ? [] : [`must be greater than or equal to ${from} and less than or equal to ${to}`]
    }
    case 'pattern':
      return new RegExp(rule.value, 'u').test(text) ? [] : [rule.says]
    case 'name':
      return nameFaults(rule.value, text)
  }
}
