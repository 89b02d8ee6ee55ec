// Of each page with times: it lies in the page, and says them in the reader's zone. Without it they are in UTC.
;(() => {
  const { lang } = document.documentElement
  const clock = new Intl.DateTimeFormat(lang, { timeStyle: 'short' })
  const whole = new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short' })
  const days = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
  const midnight = (at) => new Date(at).setHours(0, 0, 0, 0)

  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    // A day has 23 to 25 hours.
    const away = Math.round((midnight(at) - midnight(Date.now())) / 86_400_000)
    time.title = whole.format(at)
    time.textContent = Math.abs(away) < 7 ? `${days.format(away, 'day')}, ${clock.format(at)}` : whole.format(at)
  }
})()
