// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of records that point at the next one.
#pragma once

namespace calotype::runtime {

template<typename T>
void push(T *&first, T *item) {
    item->next = first;
    first = item;
}

/** The first that is chosen, or null. */
template<typename T, typename Choice>
T *find_in(T *first, Choice is_chosen) {
    while (first && !is_chosen(*first)) {
        first = first->next;
    }
    return first;
}

/** The same, which then is in the list no more. */
template<typename T, typename Choice>
T *take_first(T *&first, Choice is_chosen) {
    T **link = &first;
    while (*link && !is_chosen(**link)) {
        link = &(*link)->next;
    }
    T *found = *link;
    if (found) {
        *link = found->next;
    }
    return found;
}

/** All that are chosen, as a list of their own. */
template<typename T, typename Choice>
T *take_all(T *&first, Choice is_chosen) {
    T *taken = nullptr;
    for (T **link = &first; *link;) {
        T *item = *link;
        if (is_chosen(*item)) {
            *link = item->next;
            push(taken, item);
        } else {
            link = &item->next;
        }
    }
    return taken;
}

/** The first of a list that is the caller's, off it; null at its end. */
template<typename T>
T *pop(T *&first) {
    T *item = first;
    first = item ? item->next : nullptr;
    return item;
}

}  // namespace calotype::runtime
