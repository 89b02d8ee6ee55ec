import type { Facts, File } from './framework.ts'

type Raw = () => Promise<{ default: string }>

/**
 * Files of the examples, loaded when their lines are shown. They read what the `.env` has. `own`: what takes the place of
 * the examples' own addresses in a file that reads none.
 */
export function filesOf(files: Record<string, Raw>, own: Record<string, (facts: Facts) => string> = {}) {
  return async (facts: Facts): Promise<File[]> =>
    Promise.all(
      Object.entries(files).map(async ([name, load]) => {
        const { default: text } = await load()
        const changed = Object.entries(own).reduce(
          (result, [before, after]) => result.replaceAll(before, after(facts)),
          text,
        )
        return { name, text: changed }
      }),
    )
}
