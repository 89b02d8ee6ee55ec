// Also runs before anything is installed: plain JavaScript without dependencies, for any Node from 20 on.

/** Milliseconds after which a step that goes on is named again. */
const interval = 5000

/** Says what is under way, each line with the seconds since `npm start` began, so that no step is silent for long. */
export function openProgress(say) {
  const begun = Number((process.env.ROSTER_BEGUN ??= String(Date.now())))
  const line = (text) => say(`${String(Math.round((Date.now() - begun) / 1000)).padStart(4)} s  ${text}`)
  return {
    line,
    /** Runs a step. `detail` says what it waits for. */
    async step(text, work, detail = () => `still ${text[0].toLowerCase()}${text.slice(1)}`) {
      line(text)
      const timer = setInterval(() => line(`  ${detail()}`), interval)
      try {
        return await work()
      } finally {
        clearInterval(timer)
      }
    },
  }
}
