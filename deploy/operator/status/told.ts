/** Entries of a list or a record, and characters of a text, that anybody reads. */
export const [mostTold, longestTold] = [100, 200]

/** What a service or server told, as much of it as anybody reads, and whether there was more. */
export interface Told<T> {
  told: T
  isCut: boolean
}

/** Cuts what was told. A service that was taken over may tell anything. */
export function cutTold<T>(value: T): Told<T> {
  let isCut = false
  const cut = (one: unknown): unknown => {
    if (typeof one === 'string') return cutText(one)
    if (typeof one !== 'object' || one === null || one instanceof Date) return one
    if (Array.isArray(one)) return some(one).map(cut)
    return Object.fromEntries(some(Object.entries(one)).map(([name, inner]) => [cutText(name), cut(inner)]))
  }
  const cutText = (text: string) => {
    if (text.length <= longestTold) return text
    isCut = true
    return `${text.slice(0, longestTold - 1)}…`
  }
  const some = <Entry>(all: Entry[]) => {
    if (all.length > mostTold) isCut = true
    return all.slice(0, mostTold)
  }
  return { told: cut(value) as T, isCut }
}
