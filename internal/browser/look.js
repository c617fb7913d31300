// What is asked of a page. It runs beside the page's own scripts, whether those may run or not, and leaves nothing behind.

// fold is a text as it is compared: style sheets break lines, and set headings in capitals.
const fold = text => text.replace(/\s+/g, ' ').trim().toLowerCase()

const shows = e => e.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })
const text = e => e && shows(e) ? e.innerText ?? '' : '' // of what is not drawn, innerText would be all that stands in it
const ready = () => document.readyState === 'complete'
const view = () => ({ Address: location.href, Title: document.title, Text: text(document.body), Ready: ready() })
const says = wanted => fold(text(document.body)).includes(fold(wanted))

// describe names an element as a person who reads the source would.
function describe(e) {
  const tag = e.tagName.toLowerCase()
  if (e.id) return '#' + e.id
  if (e.name) return `${tag}[name=${e.name}]`
  const words = (e.ariaLabel || text(e)).replace(/\s+/g, ' ').trim()
  return words ? `${tag} "${words.slice(0, 60)}"` : tag
}

const focused = () => {
  const e = document.activeElement
  return !e || e === document.body ? '' : describe(e)
}

// one is the first visible element of a selector, or why there is none.
function one(selector) {
  const all = [...document.querySelectorAll(selector)]
  const e = all.find(shows)
  return e ? { e } : { hindrance: all.length ? `${selector} is there and not visible` : `nothing matches ${selector}` }
}

const pressable = 'a[href], button, summary, label, input[type=submit], input[type=button], input[type=reset],' +
  '[role=button], [role=link], [role=tab], [role=menuitem], [role=option]'

// called is the one visible thing to press that has these words: alone if there is such a thing, else at its beginning, else
// within.
function called(words) {
  const wanted = fold(words)
  const all = [...document.querySelectorAll(pressable)].filter(shows)
  const names = e => [e.ariaLabel, e.tagName === 'INPUT' ? e.value : text(e)].map(name => fold(name ?? ''))
  for (const fits of [name => name === wanted, name => name.startsWith(wanted), name => name.includes(wanted)]) {
    const found = all.filter(e => names(e).some(fits))
    if (found.length === 1) return { e: found[0] }
    if (found.length > 1) return { hindrance: `${found.length} things are called so: ${found.map(describe).join(', ')}` }
  }
  return { hindrance: 'nothing to press is called so' }
}

// aim is where to press: the middle of the element, if that is what a press there would reach.
function aim({ e, hindrance }) {
  if (hindrance) return { hindrance }
  if (e.matches(':disabled')) return { hindrance: describe(e) + ' is disabled' }
  e.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })
  const box = [...e.getClientRects()].find(r => r.width > 0 && r.height > 0)
  if (!box) return { hindrance: describe(e) + ' takes no room' }
  const x = box.x + box.width / 2, y = box.y + box.height / 2
  const hit = document.elementFromPoint(x, y)
  if (!hit) return { hindrance: describe(e) + ' is out of sight' }
  if (!e.contains(hit) && hit.closest('label')?.control !== e) return { hindrance: `${describe(e)} is covered by ${describe(hit)}` }
  return { x, y, hindrance: '' }
}

const aimAt = selector => aim(one(selector))
const aimAtText = words => aim(called(words))

// enter puts the focus into a field with all of its text selected, so that what is typed takes its place.
function enter(selector) {
  const { e, hindrance } = one(selector)
  if (hindrance) return hindrance
  if (e.matches(':disabled') || e.readOnly) return describe(e) + ' takes no text now'
  e.scrollIntoView({ block: 'center', behavior: 'instant' })
  e.focus()
  e.select?.()
  return document.activeElement === e ? '' : describe(e) + ' does not take the focus'
}

// choose picks an option of a list by its words or its value, and tells the page as a person's choice would.
function choose(selector, wanted) {
  const { e, hindrance } = one(selector)
  if (hindrance) return hindrance
  if (e.matches(':disabled')) return describe(e) + ' is disabled'
  const option = [...(e.options ?? [])].find(o => fold(o.label) === fold(wanted) || o.value === wanted)
  if (!option) return `${describe(e)} offers ${[...(e.options ?? [])].map(o => o.label).join(', ') || 'nothing'}`
  e.focus()
  option.selected = true
  for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, { bubbles: true }))
  return ''
}

// The first element of a selector, visible or not, and what is read from it: null until it is there.
const first = selector => document.querySelector(selector)
const count = selector => [...document.querySelectorAll(selector)].filter(shows).length
const read = {
  value: selector => first(selector)?.value ?? null,
  text: selector => first(selector) && text(first(selector)),
  attribute: (selector, name) => first(selector) && (first(selector).getAttribute(name) ?? ''),
}
